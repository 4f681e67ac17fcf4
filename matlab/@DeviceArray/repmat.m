function v = repmat (u, varargin)
%repmat  Copies of an array, side by side.
%
%   V = repmat (U, N)            N x N of them
%   V = repmat (U, M, N, ...)
%   V = repmat (U, [M N ...])
%
%   Example
%     gather (repmat (DeviceArray ([1 2]), 2, 1))  % 1 2; 1 2
%
%   See also DeviceArray, cat, reshape.

  if ~isa (u, 'DeviceArray')
    ordinary ('repmat', varargin{:});
  end
  times = dimensions (varargin);
  if numel (times) == 1
    times = [times times];
  elseif isempty (times)
    error ('DeviceArray:size', 'repmat: how many copies of the array?');
  end
  v = DeviceArray_CUDA ('repmat', u, times);
end
