/** Colours of the theme, for drawing on a canvas. */

/** Returns the colour of a role as it is now. */
export function role(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
}

/** Roles of series in the order of their use; dashes distinguish them without colour. */
export const SERIES_STYLES: readonly { readonly color: string; readonly dash: readonly number[] }[] = [
  { color: 'series', dash: [] },
  { color: 'accent', dash: [] },
  { color: 'version-b', dash: [6, 3] },
  { color: 'true', dash: [2, 3] },
  { color: 'major', dash: [] },
  { color: 'unknown', dash: [8, 3, 2, 3] },
]
