// Keys that work anywhere on the page, except while typing.
import { useEffect, useRef } from 'preact/hooks';

// By key as in KeyboardEvent.key, with the prefixes "ctrl+" and "shift+" if they are held.
export type Keys = Record<string, (event: KeyboardEvent) => void>;

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, select, textarea') !== null;
}

export function keyName(event: KeyboardEvent): string {
  const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const isLetter = /^[a-z]$/.test(letter);
  const shift = event.shiftKey && (isLetter || letter.length > 1) ? 'shift+' : '';
  return `${event.ctrlKey || event.metaKey ? 'ctrl+' : ''}${shift}${letter}`;
}

export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    const handle = (event: KeyboardEvent) => {
      const name = keyName(event);
      const always = name.startsWith('ctrl+') || name === 'Escape';
      if (event.altKey || event.defaultPrevented || (isTyping(event.target) && !always)) return;
      const action = current.current[name];
      if (action === undefined) return;
      event.preventDefault();
      action(event);
    };
    document.addEventListener('keydown', handle);
    return () => document.removeEventListener('keydown', handle);
  }, []);
}
