function [dim, nans] = along (dim, varargin)
%along  Gives a dimension as verbs take it: its number, 0 for 'all', -1 for
%       none.
%
%   [DIM, NANS] = along (INPUTS...)
%
%   INPUTS are those of a reduction behind the array. With two outputs
%   'omitnan' or 'includenan' may be the last of them; else NANS is ''. DIM
%   may be a list of dimensions, in order.

  if nargin == 1 && isnumeric (dim) && isscalar (dim) && dim >= 1 && dim == fix (dim) && ~isobject (dim)
    dim = double (dim);
    nans = '';
    return
  end
  inputs = [{dim}, varargin];
  dim = -1;
  nans = '';
  if ischar (inputs{end}) && any (strcmpi (inputs{end}, {'omitnan', 'includenan'}))
    nans = lower (inputs{end});
    inputs(end) = [];
    if nargout < 2
      refuse (['''' nans ''' but with sum, mean, median, max and min'], 'x = gather (u)');
    end
  end
  if numel (inputs) > 1
    refuse ('more inputs of a reduction than the array and a dimension', 'x = gather (u)', ...
            'Results have the array''s class. ');
  elseif numel (inputs) == 1
    dim = inputs{1};
    if ischar (dim) && strcmpi (dim, 'all')
      dim = 0;
    elseif isa (dim, 'DeviceArray')
      refuse ('a dimension', 'gather (u)');
    elseif ~isnumeric (dim) || isempty (dim) || ~all (dim(:) >= 1 & dim(:) == fix (dim(:))) ...
           || numel (unique (dim)) < numel (dim)
      error ('DeviceArray:dimension', ...
             ['The dimension must be a whole number from 1 up, a list of several, or ''all'' for all elements; ' ...
              'results have the array''s class.']);
    end
    dim = sort (double (dim(:).'));
  end
end
