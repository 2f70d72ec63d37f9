// Names shortened so that the distinguishing parts stay.

// Where the parameters begin; -1: none.
function parametersAt(name: string): number {
  return name.endsWith(')') ? name.indexOf('(') : -1;
}

// "Session.commit" of "org.h2.engine.Session.commit(boolean)"; other names are left alone.
export function shortName(name: string): string {
  const at = parametersAt(name);
  if (at < 0) return name;
  const before = name.slice(0, at);
  const method = before.lastIndexOf('.');
  const type = before.lastIndexOf('.', method - 1);
  return method < 0 ? before : before.slice(type + 1);
}

// The package, the class with its method, the parameters: three parts that are shown separately.
export function partsOf(name: string): [string, string, string] {
  const at = parametersAt(name);
  if (at < 0) return ['', name, ''];
  const short = shortName(name);
  return [name.slice(0, at - short.length), short, name.slice(at)];
}

// At most `room` characters; the end is removed first.
export function clipped(text: string, room: number): string {
  if (text.length <= room) return text;
  return room < 2 ? '' : `${text.slice(0, room - 1)}…`;
}

// The part of a name that fits into that many characters.
export function fitted(name: string, room: number): string {
  return name.length <= room ? name : clipped(shortName(name), room);
}
