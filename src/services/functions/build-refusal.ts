/** Why a version cannot be built. */

/** What is wrong with a function, so that another attempt is useless. */
export class BuildRefusal extends Error {
  readonly log: readonly string[]

  constructor(message: string, log: readonly string[] = []) {
    super(message)
    this.log = log
  }
}
