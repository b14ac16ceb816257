//! Devices.

#![allow(unsafe_code, reason = "callers pass pointers")]

use std::ffi::c_char;

use super::types::{DeviceNumber, Handle, handle, put, put_text, text};
use crate::abi::api;
use crate::machine::{Context, attributes, machine};
use crate::status::Status;

/// `CUdevprop`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct DeviceProperties {
    pub max_threads_per_block: i32,
    pub max_threads_dim: [i32; 3],
    pub max_grid_size: [i32; 3],
    pub shared_mem_per_block: i32,
    pub total_constant_memory: i32,
    pub simd_width: i32,
    pub mem_pitch: i32,
    pub regs_per_block: i32,
    pub clock_rate: i32,
    pub texture_align: i32,
}

api! {
    /// A device by its number.
    fn cuDeviceGet(device: *mut DeviceNumber, ordinal: i32) {
        machine()?.device(ordinal)?;
        // SAFETY: a place for a number, or null.
        unsafe { put(device, ordinal) }
    }

    /// How many devices there are.
    fn cuDeviceGetCount(count: *mut i32) {
        let devices = machine()?.devices.len() as i32;
        // SAFETY: a place for a number, or null.
        unsafe { put(count, devices) }
    }

    /// The name of a device.
    fn cuDeviceGetName(name: *mut c_char, len: i32, device: DeviceNumber) {
        let machine = machine()?;
        machine.device(device)?;
        let len = usize::try_from(len).map_err(|_| Status::INVALID_VALUE)?;
        // SAFETY: a place for so many bytes, or null.
        unsafe { put_text(name, len, &attributes::name(machine)) }
    }

    /// A number that no other device has.
    fn cuDeviceGetUuid(uuid: *mut [u8; 16], device: DeviceNumber) {
        let bytes = attributes::uuid(machine()?.device(device)?);
        // SAFETY: a place for 16 bytes, or null.
        unsafe { put(uuid, bytes) }
    }

    /// A number that no other device has.
    fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], device: DeviceNumber) {
        let bytes = attributes::uuid(machine()?.device(device)?);
        // SAFETY: a place for 16 bytes, or null.
        unsafe { put(uuid, bytes) }
    }

    /// Bytes of a device's memory.
    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: DeviceNumber) {
        let total = machine()?.device(device)?.total;
        // SAFETY: a place for a number, or null.
        unsafe { put(bytes, total as usize) }
    }

    /// A value of a device.
    fn cuDeviceGetAttribute(value: *mut i32, attribute: i32, device: DeviceNumber) {
        let machine = machine()?;
        let device = machine.device(device)?;
        // SAFETY: a place for a number, or null.
        unsafe { put(value, attributes::attribute(machine, device, attribute)?) }
    }

    /// The widest texture over linear memory.
    fn cuDeviceGetTexture1DLinearMaxWidth(width: *mut usize, format: i32, channels: u32, device: DeviceNumber) {
        machine()?.device(device)?;
        let _ = (format, channels);
        // SAFETY: a place for a number, or null.
        unsafe { put(width, 1 << 28) }
    }

    /// The architecture.
    fn cuDeviceComputeCapability(major: *mut i32, minor: *mut i32, device: DeviceNumber) {
        let machine = machine()?;
        machine.device(device)?;
        let number = machine.settings.architecture as i32;
        // SAFETY: places for numbers, or null.
        unsafe {
            put(major, number / 10)?;
            put(minor, number % 10)
        }
    }

    /// Some values of a device together.
    fn cuDeviceGetProperties(properties: *mut DeviceProperties, device: DeviceNumber) {
        let machine = machine()?;
        let device = machine.device(device)?;
        let value = |number| attributes::attribute(machine, device, number);
        let made = DeviceProperties {
            max_threads_per_block: value(1)?,
            max_threads_dim: [value(2)?, value(3)?, value(4)?],
            max_grid_size: [value(5)?, value(6)?, value(7)?],
            shared_mem_per_block: value(8)?,
            total_constant_memory: value(9)?,
            simd_width: value(10)?,
            mem_pitch: value(11)?,
            regs_per_block: value(12)?,
            clock_rate: value(13)?,
            texture_align: value(14)?,
        };
        // SAFETY: a place for the structure, or null.
        unsafe { put(properties, made) }
    }

    /// A device by the place where it is plugged in.
    fn cuDeviceGetByPCIBusId(device: *mut DeviceNumber, bus: *const c_char) {
        let machine = machine()?;
        // SAFETY: a text, or null.
        let bus = unsafe { text(bus) }?;
        // The domain and the function may be left out.
        let same = |place: &str| {
            let short = place.strip_prefix("0000:").unwrap_or(place);
            [place, short, short.trim_end_matches(".0")].iter().any(|form| form.eq_ignore_ascii_case(bus))
        };
        let found = machine.devices.iter().find(|device| same(&attributes::pci_bus(device)));
        let found = found.ok_or(Status::INVALID_DEVICE)?;
        // SAFETY: a place for a number, or null.
        unsafe { put(device, found.ordinal as i32) }
    }

    /// The place where a device is plugged in.
    fn cuDeviceGetPCIBusId(bus: *mut c_char, len: i32, device: DeviceNumber) {
        let device = machine()?.device(device)?;
        let len = usize::try_from(len).map_err(|_| Status::INVALID_VALUE)?;
        // SAFETY: a place for so many bytes, or null.
        unsafe { put_text(bus, len, &attributes::pci_bus(device)) }
    }

    /// Whether kernels of a device can reach the memory of another one.
    fn cuDeviceCanAccessPeer(can: *mut i32, device: DeviceNumber, peer: DeviceNumber) {
        let machine = machine()?;
        machine.device(device)?;
        machine.device(peer)?;
        // SAFETY: a place for a number, or null.
        unsafe { put(can, i32::from(device != peer)) }
    }

    /// What is between two devices.
    fn cuDeviceGetP2PAttribute(value: *mut i32, attribute: i32, from: DeviceNumber, to: DeviceNumber) {
        let machine = machine()?;
        machine.device(from)?;
        machine.device(to)?;
        if from == to {
            return Err(Status::INVALID_DEVICE);
        }
        let found = match attribute {
            // A rank of the speed; access; atomics; arrays.
            1 => 0,
            2 | 3 => 1,
            4 => 0,
            _ => return Err(Status::INVALID_VALUE),
        };
        // SAFETY: a place for a number, or null.
        unsafe { put(value, found) }
    }

    /// Lets kernels of the current context reach the memory of another one's device.
    fn cuCtxEnablePeerAccess(peer: Handle, flags: u32) {
        let context = Context::current()?;
        let peer = Context::of(super::types::number(peer))?;
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        if peer.device.ordinal == context.device.ordinal {
            return Err(Status::INVALID_DEVICE);
        }
        if context.device.reaches(peer.device.ordinal) {
            return Err(Status::PEER_ACCESS_ALREADY_ENABLED);
        }
        context.machine().reach(context.device, peer.device)
    }

    /// Ends what `cuCtxEnablePeerAccess` began.
    fn cuCtxDisablePeerAccess(peer: Handle) {
        let context = Context::current()?;
        let peer = Context::of(super::types::number(peer))?;
        if !context.device.reaches(peer.device.ordinal) {
            return Err(Status::PEER_ACCESS_NOT_ENABLED);
        }
        context.drain();
        context.machine().reach_no_more(context.device, peer.device);
        Ok(())
    }

    /// Holds the primary context of a device.
    fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: DeviceNumber) {
        let machine = machine()?;
        let device = machine.device(device)?;
        if context.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: a place for a handle.
        unsafe { put(context, handle(device.retain_primary(machine).handle)) }
    }

    /// Holds it no more.
    fn cuDevicePrimaryCtxRelease_v2(device: DeviceNumber) {
        machine()?.device(device)?.release_primary()
    }

    /// Holds it no more.
    fn cuDevicePrimaryCtxRelease(device: DeviceNumber) {
        machine()?.device(device)?.release_primary()
    }

    /// Empties it.
    fn cuDevicePrimaryCtxReset_v2(device: DeviceNumber) {
        machine()?.device(device)?.reset_primary();
        Ok(())
    }

    /// Empties it.
    fn cuDevicePrimaryCtxReset(device: DeviceNumber) {
        machine()?.device(device)?.reset_primary();
        Ok(())
    }

    /// Sets its flags.
    fn cuDevicePrimaryCtxSetFlags_v2(device: DeviceNumber, flags: u32) {
        set_primary_flags(device, flags)
    }

    /// Sets its flags.
    fn cuDevicePrimaryCtxSetFlags(device: DeviceNumber, flags: u32) {
        set_primary_flags(device, flags)
    }

    /// Its flags, and whether somebody holds it.
    fn cuDevicePrimaryCtxGetState(device: DeviceNumber, flags: *mut u32, active: *mut i32) {
        let (is, held) = machine()?.device(device)?.primary_state();
        // SAFETY: places for numbers, or null.
        unsafe {
            put(flags, is)?;
            put(active, i32::from(held))
        }
    }
}

fn set_primary_flags(device: DeviceNumber, flags: u32) -> crate::status::Answer {
    let device = machine()?.device(device)?;
    super::context::check_flags(flags)?;
    device.set_primary_flags(flags);
    Ok(())
}
