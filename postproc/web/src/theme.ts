// Light or dark: by the URL, else by the system.
import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Theme } from './palette.ts';

export const ThemeContext = createContext<Theme>('light');

export function useTheme(): Theme {
  return useContext(ThemeContext);
}

export function useChosenTheme(chosen: string | undefined): Theme {
  const [systemDark, setSystemDark] = useState(false);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const follow = () => setSystemDark(query.matches);
    follow();
    query.addEventListener('change', follow);
    return () => query.removeEventListener('change', follow);
  }, []);
  const theme: Theme =
    chosen === 'dark' || chosen === 'light' ? chosen : systemDark ? 'dark' : 'light';
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  return theme;
}
