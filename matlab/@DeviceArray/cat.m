function varargout = cat (dim, varargin)
%cat  Arrays joined along a dimension.
%
%   W = cat (DIM, U, V, ...)
%
%   Some of them may be ordinary arrays; W is on the device. Its class is the
%   host's: the first class of integers, else single where there is one.
%
%   Example
%     size (cat (3, DeviceArray ([1 2]), [3 4]))  % 1 2 2
%
%   See also DeviceArray, horzcat, vertcat.

  try
    if isa (dim, 'DeviceArray')
      % Octave's own cell2mat leaves it out.
      error ('DeviceArray:dimension', ...
             ['cat: the dimension comes first, and is an ordinary number: cat (2, u, v), or cat (gather (dim), u, v). ' ...
              'Of arrays in a cell, where cell2mat does not say along which dimension: [c{:}] or cat (1, c{:}).']);
    end
    varargout = {DeviceArray_CUDA('cat', dim, varargin{:})};
  catch caught
    varargout = {refusal(caught)};
  end
end
