function r = sumsq (a, varargin)
%sumsq  Sums of squares.
%
%   X = sumsq (U)         along the first dimension that is not 1
%   X = sumsq (U, DIM)    along DIM
%   X = sumsq (U, 'all')  over all elements
%
%   X is an ordinary array of U's class.
%
%   Example
%     sumsq (DeviceArray ([3 4]))  % 25
%
%   See also DeviceArray, sum, norm.

  r = sum (a .* a, varargin{:});
end
