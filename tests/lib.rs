//! Reads the golden data that the tests beside it share.
