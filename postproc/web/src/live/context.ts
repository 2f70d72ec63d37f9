// Whether the page's profile is replaced by newer ones of the same recording: then views keep what
// is chosen, and where they were scrolled to.
import { createContext } from 'preact';

export const LiveContext = createContext(false);
