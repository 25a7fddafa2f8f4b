-- Commands, pipes and files work relative to the current folder.
-- servers: none
-- $ --events=1 run

function event()
   print(os.execute("exit 3"), os.execute("true"))
   local pipe = io.popen("echo from a pipe; pwd | wc -l")
   print(pipe:read("*l"), tonumber(pipe:read("*l")))
   pipe:close()
   local file = assert(io.open("written.txt", "w"))
   file:write("one\n", 2, "\n")
   file:close()
   for line in io.lines("written.txt") do
      print(line)
   end
   print(os.remove("written.txt"), io.open("written.txt"))
   print(os.getenv("LC_ALL"), os.getenv("NO_SUCH_VARIABLE"))
   local name = os.tmpname()
   print(type(os.clock()), type(os.time()), type(name), os.remove(name))
   io.stdout:write("written to the output\n")
   io.stderr:write("written to the messages\n")
end
