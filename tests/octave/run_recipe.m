## -*- texinfo -*-
## @deftypefn {} {@var{results} =} run_recipe (@var{calls}, @var{heading}, @var{number})
## Runs a call of a page, of those that @code{save_recipes} gives, by its heading and, among several, its number. The fields of
## @var{results} are its variables.
## @end deftypefn

function results = run_recipe (calls__, heading__, number__ = 1)
  code__ = calls__(strcmp (calls__(:,1), heading__),2);
  n = 100;
  eval (code__{number__});
  for name__ = setdiff (who (), {"calls__", "heading__", "number__", "code__", "name__", "results"})'
    results.(name__{1}) = eval (name__{1});
  endfor
endfunction
