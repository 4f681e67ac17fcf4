## -*- texinfo -*-
## @deftypefn {} {@var{bits} =} fuzz_bits (@var{values})
## Returns the bits of the full arrays of numbers in a cell array, in an array without other references.
## @end deftypefn

function bits = fuzz_bits (values)
  full = cellfun (@(x) ! isa (x, "DeviceArray") && (isnumeric (x) || islogical (x)) && ! issparse (x), values(:).');
  bits = cellfun (@(x) typecast ([real(x)(:); imag(x)(:)](:) + 0 * islogical (x), "uint8")(:), values(full), "UniformOutput", false);
  bits = vertcat (zeros (0, 1, "uint8"), bits{:});
endfunction
