function u = reshape (this, varargin)
%reshape  Other sizes, on the device; nothing is copied.
%
%   V = reshape (U, M, N, ...)
%   V = reshape (U, [M N ...])
%   V = reshape (U, M, [], ...)  what is left for one dimension
%
%   Example
%     gather (reshape (DeviceArray (1:6), 2, []))  % 1 3 5; 2 4 6
%
%   See also DeviceArray, permute, squeeze.

  open = cellfun ('isempty', varargin);
  if any (open)
    if sum (open) > 1 || nargin < 3
      error ('DeviceArray:size', 'reshape: only one dimension may be [].');
    end
    n = numel (this);
    rest = prod (dimensions (varargin(~open)));
    if n == 0 && rest == 0
      rest = 1;
    elseif rest == 0 || mod (n, rest) ~= 0
      error ('DeviceArray:size', ...
             'reshape: %d elements cannot be divided by the product of the dimensions, %d.', ...
             n, rest);
    end
    varargin{open} = n / rest;
  end
  u = DeviceArray_CUDA ('reshape', this, dimensions (varargin));
end
