# Makes a source file of the files of the live page: cmake -DFOLDER=... -DOUTPUT=... -P embed_page.cmake
set(text "#include \"live/site.hpp\"\n\nnamespace demix::live {\n\n")
string(APPEND text "const std::vector<PageFile>& page_files() {\n  static const std::vector<PageFile> files{\n")
foreach(file /=page.html=text/html /page.css=page.css=text/css /draw.js=draw.js=text/javascript
    /sound.js=sound.js=text/javascript /rows.js=rows.js=text/javascript
    /page.js=page.js=text/javascript)
  string(REPLACE "=" ";" parts "${file}")
  list(GET parts 0 path)
  list(GET parts 1 name)
  list(GET parts 2 type)
  file(READ "${FOLDER}/${name}" content)
  string(APPEND text "      {\"${path}\", \"${type}; charset=utf-8\", R\"page(${content})page\"},\n")
endforeach()
string(APPEND text "  };\n  return files;\n}\n\n}  // namespace demix::live\n")
file(WRITE "${OUTPUT}" "${text}")
