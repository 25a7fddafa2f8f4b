function value_of(name)
   return ({seven = 7, eight = 8})[name]
end

return "values"
