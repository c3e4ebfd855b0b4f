/** Returns the error that a call throws; fails when it throws nothing. */
export function thrown(call: () => unknown): unknown {
  try {
    call()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}
