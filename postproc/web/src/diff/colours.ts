// Blue for what shrank, orange for what grew: people who confuse red and green see these apart.
import type { Theme } from '../palette.ts';
import type { Step } from './change.ts';

// From -4 to 4.
const kFills: Record<Theme, readonly string[]> = {
  light: ['#4a95d6', '#86b9e4', '#b4d4ef', '#d9e9f6', '#e6e8ea', '#fce6d0', '#f9cda3', '#f2a863', '#e07f22'],
  dark: ['#1e6098', '#285478', '#2b475f', '#2c3c4a', '#3a3f45', '#4c3f31', '#65482b', '#805023', '#a35a14'],
};

export function fillOfStep(step: Step, theme: Theme): string {
  return kFills[theme][step + 4];
}
