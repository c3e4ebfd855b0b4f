/** Ids that a path can have: clients resolve dot segments before they send a URL. */

/** False for `.` and `..`, also escaped. */
export function isAddressable(id: string): boolean {
  return id !== '.' && id !== '..'
}

export const NOT_ADDRESSABLE = 'cannot stand in an address, where dots alone are steps'
