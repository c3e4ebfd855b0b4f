/** Ids that a path can have: clients resolve dot segments before they send a URL. */

/** False for `.` and `..`, also escaped. */
export function isAddressable(id: string): boolean {
  return id !== '.' && id !== '..'
}

export const NOT_ADDRESSABLE = 'cannot be part of a URL, where "." and ".." are path steps; choose another name'
