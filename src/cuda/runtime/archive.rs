//! The kernels' PTX: `cuda/kernels.bin`, embedded in the library, and unpacked a module at a time.
//!
//! The archive is a zstd frame that holds a dictionary, then a frame a module, compressed with that dictionary. Numbers
//! in a module are differences ([`restored`]): unrolled code then repeats itself, and takes half of the bytes. Unpacked
//! text is not kept: a module is loaded once a context, and the driver takes longer for it than the unpacking.

use std::collections::HashMap;
use std::ffi::CString;
use std::io::Write;

use ruzstd::decoding::{Dictionary, FrameDecoder};

use crate::platform::memory;
use crate::stencil::Error;

/// A frame of the archive.
struct Frame {
    /// Its begin.
    offset: usize,
    /// Number of its bytes in the archive.
    packed: usize,
    /// Number of bytes of the dictionary or the PTX that it holds.
    bytes: usize,
}

// `ARCHIVE: &[u8]`, `DICTIONARY: Frame` and `MODULES: &[(&str, Frame)]`, from `cuda/kernels.lock`.
include!(concat!(env!("OUT_DIR"), "/archive.rs"));

/// Memory of the decoder besides the dictionary and the text, in bytes: a generous bound.
const DECODER: usize = 1 << 20;

/// Largest number that is coded, and the maximum number of digits.
const MAX_NUMBER: i64 = 9_999_999_999;
const DIGITS: usize = 10;

/// Returns the PTX of the module `name`, checked by its length and by zstd's checksum.
///
/// # Errors
/// [`Error::Internal`] if there is no such module, or its frame is damaged; [`Error::OutOfMemory`].
pub(crate) fn ptx(name: &str) -> Result<CString, Error> {
    let Some((_, frame)) = MODULES.iter().find(|(module, _)| *module == name) else {
        return Err(Error::Internal(format!("There is no kernel module {name}.")));
    };
    // The decoder aborts the process if an allocation fails. It holds up to three copies of the dictionary and three of
    // the text, whose buffer grows by doubling; then come the text's lines and numbers, and the PTX.
    memory::spare(3 * DICTIONARY.bytes + 6 * frame.bytes + DECODER)?;
    unpack(ARCHIVE, &DICTIONARY, frame)
        .map_err(|why| Error::Internal(format!("The kernel module {name} is damaged: {why}.")))
}

/// Returns the text of a frame that was compressed with the dictionary, or the reason why it cannot be unpacked.
fn unpack(archive: &[u8], dictionary: &Frame, frame: &Frame) -> Result<CString, String> {
    let mut decoder = FrameDecoder::new();
    let text = decode(&mut decoder, archive, dictionary)?;
    exact(&text, dictionary)?;
    let dictionary = Dictionary::decode_dict(&text).map_err(|_| "its dictionary is none")?;
    decoder.add_dict(dictionary).map_err(|_| "its dictionary is refused")?;
    let ptx = restored(&decode(&mut decoder, archive, frame)?, frame.bytes + 1);
    exact(&ptx, frame)?;
    CString::new(ptx).map_err(|_| "there is a NUL in it".into())
}

/// Checks that a text is as long as the frame says.
fn exact(text: &[u8], frame: &Frame) -> Result<(), String> {
    let (found, wanted) = (text.len(), frame.bytes);
    if found == wanted { Ok(()) } else { Err(format!("it holds {found} bytes, not {wanted}")) }
}

/// Decompresses a frame, to the length that it states at most.
fn decode(decoder: &mut FrameDecoder, archive: &[u8], frame: &Frame) -> Result<Vec<u8>, String> {
    let packed = archive.get(frame.offset..frame.offset + frame.packed).ok_or("the archive ends before it")?;
    let mut content = vec![0; frame.bytes];
    let bytes = decoder.decode_all(packed, &mut content).map_err(|_| "it does not decode")?;
    content.truncate(bytes);
    // The decoder computes the checksum and leaves the comparison to its caller.
    match decoder.get_checksum_from_data() {
        Some(sum) if Some(sum) == decoder.get_calculated_checksum() => Ok(content),
        Some(_) => Err("its checksum is wrong".into()),
        None => Err("it has no checksum".into()),
    }
}

/// Returns the PTX of a coded text. Each number in it is the difference, modulo 2 [`MAX_NUMBER`] + 1, from the number
/// at its place in the last line that is equal up to numbers. `make-ptx` codes it.
fn restored(coded: &[u8], capacity: usize) -> Vec<u8> {
    let mut ptx = Vec::with_capacity(capacity);
    let mut last: HashMap<Vec<u8>, Vec<i64>> = HashMap::new();
    for (i, line) in coded.split(|&byte| byte == b'\n').enumerate() {
        if i > 0 {
            ptx.push(b'\n');
        }
        let numbers = numbers(line);
        let mut key = Vec::with_capacity(line.len());
        let mut end = 0;
        for &(start, after, _) in &numbers {
            key.extend_from_slice(&line[end..start]);
            key.push(b'#');
            end = after;
        }
        key.extend_from_slice(&line[end..]);
        let before = last.entry(key).or_insert_with(|| vec![0; numbers.len()]);
        let mut end = 0;
        for (&(start, after, difference), number) in numbers.iter().zip(before) {
            *number = (*number + difference + MAX_NUMBER).rem_euclid(2 * MAX_NUMBER + 1) - MAX_NUMBER;
            ptx.extend_from_slice(&line[end..start]);
            // Writing to memory does not fail.
            let _ = write!(ptx, "{number}");
            end = after;
        }
        ptx.extend_from_slice(&line[end..]);
    }
    ptx
}

/// Returns start, end and value of each coded number of a line: numbers right behind a digit or a minus, numbers with
/// leading zeros and those of more than [`DIGITS`] are not coded.
fn numbers(line: &[u8]) -> Vec<(usize, usize, i64)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let digits = at + usize::from(line[at] == b'-');
        let count = line[digits..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_behind = at > 0 && (line[at - 1] == b'-' || line[at - 1].is_ascii_digit());
        let is_plain = (1..=DIGITS).contains(&count) && (line[digits] != b'0' || (count == 1 && digits == at));
        if is_plain && !is_behind {
            let size = line[digits..digits + count].iter().fold(0, |sum, &byte| 10 * sum + i64::from(byte - b'0'));
            found.push((at, digits + count, if digits > at { -size } else { size }));
        }
        at = (digits + count).max(at + 1);
    }
    found
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    /// Returns name and SHA-256 of each module, from the lock.
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
    fn numbers_are_differences() {
        let text = b"a 5, b-3\na 7, b-3\n-0 007 10000000000 x12\na -4, b-3\n-0 007 10000000000 x-1";
        let ptx = b"a 5, b-3\na 12, b-6\n-0 007 10000000000 x12\na 8, b-9\n-0 007 10000000000 x11";
        assert_eq!(restored(text, 0), ptx);
        // The largest and the smallest number are adjacent.
        assert_eq!(restored(b"9999999999\n1\n-1", 0), b"9999999999\n-9999999999\n9999999999");
        // Numbers behind a digit or a minus are not coded.
        assert_eq!(restored(b"1-2 --3\n1-2 --3", 0), b"1-2 --3\n2-2 --3");
    }

    #[test]
    fn a_name_that_is_not_there_is_an_error() {
        for name in ["", "stencil_0", "stencil_04", "sweeps"] {
            let text = format!("There is no kernel module {name}.");
            assert!(matches!(ptx(name), Err(Error::Internal(error)) if error == text), "{name}");
        }
    }

    /// The archive is damaged in one byte: in the dictionary's frame and a module's, from the beginning to the
    /// checksum. Bits that the decoder ignores may have any value: then the text is the right one.
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
            (Frame { offset, packed, bytes: bytes - 1 }, format!("it holds {bytes} bytes, not {}", bytes - 1)),
            (Frame { offset, packed: packed - 1, bytes }, "it does not decode".into()),
            (Frame { offset: ARCHIVE.len() - 1, packed, bytes }, "the archive ends before it".into()),
            (Frame { offset, packed: 0, bytes }, format!("it holds 0 bytes, not {bytes}")),
        ] {
            let error = unpack(ARCHIVE, &DICTIONARY, &wrong).unwrap_err();
            assert!(error.contains(&why), "{error}");
        }
    }
}
