//! Finds video instructions in source code.
