/** A problem of a function that makes another attempt useless. */
export class BuildRefusal extends Error {
  readonly log: readonly string[]

  constructor(message: string, log: readonly string[] = []) {
    super(message)
    this.log = log
  }
}
