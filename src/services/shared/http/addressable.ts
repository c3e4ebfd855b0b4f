/** Ids that a path can have: those of dots alone are taken out of an address before it is sent. */

/** False for `.` and `..`, also when they are escaped: every client reads them as steps. */
export function isAddressable(id: string): boolean {
  return id !== '.' && id !== '..'
}

export const NOT_ADDRESSABLE = 'cannot stand in an address, where dots alone are steps'
