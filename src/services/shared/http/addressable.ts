/** Checks whether an id can be part of a path, since clients resolve dot segments before sending a URL. */

/** False for `.` and `..`, even when escaped. */
export function isAddressable(id: string): boolean {
  return id !== '.' && id !== '..'
}

export const NOT_ADDRESSABLE = 'cannot be part of a URL, where "." and ".." are path steps; choose another name'
