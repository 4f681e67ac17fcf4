//! The kernels' PTX: `cuda/kernels.bin`, embedded as it is, and unpacked a module at a time.
//!
//! The archive is a zstd frame that holds a dictionary, then a frame a module, compressed with that dictionary. Nothing
//! that was unpacked is kept: a module is loaded once a context, and the driver takes longer for it than the unpacking.

use std::ffi::CString;

use ruzstd::decoding::{Dictionary, FrameDecoder};

use crate::memory;
use crate::stencil::Error;

/// A frame of the archive.
struct Frame {
    /// Where it begins.
    offset: usize,
    /// Its bytes in the archive.
    packed: usize,
    /// The bytes of what it holds.
    bytes: usize,
}

// `ARCHIVE: &[u8]`, `DICTIONARY: Frame` and `MODULES: &[(&str, Frame)]`, as `cuda/kernels.lock` tells.
include!(concat!(env!("OUT_DIR"), "/archive.rs"));

/// What the decoder takes beside the dictionary and the text, in bytes: far more than it does.
const DECODER: usize = 1 << 20;

/// The PTX of the module `name`, checked by its length and by zstd's checksum.
///
/// # Errors
/// [`Error::Internal`] where there is no such module, or its frame is damaged; [`Error::OutOfMemory`].
pub(crate) fn ptx(name: &str) -> Result<CString, Error> {
    let Some((_, frame)) = MODULES.iter().find(|(module, _)| *module == name) else {
        return Err(Error::Internal(format!("There is no kernel module {name}.")));
    };
    // The decoder ends the process where an allocation fails. It holds up to three copies of the dictionary and three
    // of the text, whose buffer grows by doubling.
    memory::spare(3 * DICTIONARY.bytes + 3 * frame.bytes + DECODER)?;
    unpack(ARCHIVE, &DICTIONARY, frame)
        .map_err(|why| Error::Internal(format!("The kernel module {name} is damaged: {why}.")))
}

/// The text of a frame that was compressed with the dictionary, or why there is none.
fn unpack(archive: &[u8], dictionary: &Frame, frame: &Frame) -> Result<CString, String> {
    let mut decoder = FrameDecoder::new();
    let dictionary = decode(&mut decoder, archive, dictionary)?;
    let dictionary = Dictionary::decode_dict(&dictionary).map_err(|_| "its dictionary is none")?;
    decoder.add_dict(dictionary).map_err(|_| "its dictionary is refused")?;
    let text = decode(&mut decoder, archive, frame)?;
    CString::new(text).map_err(|_| "there is a NUL in it".into())
}

/// What a frame holds, with room for a NUL behind it.
fn decode(decoder: &mut FrameDecoder, archive: &[u8], frame: &Frame) -> Result<Vec<u8>, String> {
    let packed = archive.get(frame.offset..frame.offset + frame.packed).ok_or("the archive ends before it")?;
    let mut content = Vec::with_capacity(frame.bytes + 1);
    content.resize(frame.bytes, 0);
    let bytes = decoder.decode_all(packed, &mut content).map_err(|_| "it does not decode")?;
    if bytes != frame.bytes {
        return Err(format!("it holds {bytes} bytes, not {}", frame.bytes));
    }
    // The decoder computes the checksum and leaves the comparison to its caller.
    match decoder.get_checksum_from_data() {
        Some(sum) if Some(sum) == decoder.get_calculated_checksum() => Ok(content),
        Some(_) => Err("its checksum is wrong".into()),
        None => Err("it has no checksum".into()),
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    /// Name and SHA-256 of each module, as the lock has them.
    fn listed() -> Vec<(&'static str, &'static str)> {
        let lines = include_str!("../../../cuda/kernels.lock").lines().filter(|line| line.starts_with("module "));
        lines.map(|line| line.split(' ').collect::<Vec<_>>()).map(|words| (words[1], words[4])).collect()
    }

    #[test]
    fn each_module_is_the_ptx_that_the_lock_lists() {
        let names: Vec<_> = MODULES.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, listed().iter().map(|(name, _)| *name).collect::<Vec<_>>());
        assert!(!names.is_empty());
        for (name, sum) in listed() {
            let digest = Sha256::digest(ptx(name).unwrap().as_bytes());
            assert_eq!(digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), sum, "{name}");
        }
    }

    #[test]
    fn a_name_that_is_not_there_is_an_error() {
        for name in ["", "stencil_0", "stencil_04", "sweeps"] {
            let text = format!("There is no kernel module {name}.");
            assert!(matches!(ptx(name), Err(Error::Internal(error)) if error == text), "{name}");
        }
    }

    /// The archive with one byte changed: the dictionary's frame and a module's, from the beginning to the checksum. A
    /// bit that says nothing to the decoder may be any: then the text is the right one.
    #[test]
    fn damage_is_an_error() {
        let (_, module) = MODULES.iter().min_by_key(|(_, frame)| frame.bytes).unwrap();
        let right = unpack(ARCHIVE, &DICTIONARY, module).unwrap();
        let mut harmless = 0;
        for frame in [&DICTIONARY, module] {
            for step in 0..=40 {
                let mut archive = ARCHIVE.to_vec();
                archive[frame.offset + step * (frame.packed - 1) / 40] ^= 0x10;
                match unpack(&archive, &DICTIONARY, module) {
                    Err(_) => {}
                    Ok(text) => {
                        assert_eq!(text, right, "step {step}");
                        harmless += 1;
                    }
                }
            }
        }
        assert!(harmless <= 2, "{harmless} of 82 changes were not seen");
    }

    #[test]
    fn a_wrong_length_is_an_error() {
        let (_, module) = MODULES.iter().min_by_key(|(_, frame)| frame.bytes).unwrap();
        let Frame { offset, packed, bytes } = *module;
        for (wrong, why) in [
            (Frame { offset, packed, bytes: bytes + 1 }, format!("it holds {bytes} bytes, not {}", bytes + 1)),
            (Frame { offset, packed, bytes: bytes - 1 }, "it does not decode".into()),
            (Frame { offset, packed: packed - 1, bytes }, "it does not decode".into()),
            (Frame { offset: ARCHIVE.len() - 1, packed, bytes }, "the archive ends before it".into()),
            (Frame { offset, packed: 0, bytes }, format!("it holds 0 bytes, not {bytes}")),
        ] {
            let error = unpack(ARCHIVE, &DICTIONARY, &wrong).unwrap_err();
            assert!(error.contains(&why), "{error}");
        }
    }
}
