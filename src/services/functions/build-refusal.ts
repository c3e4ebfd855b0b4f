/** Rejects a build for a reason that another attempt would not change. */
export class BuildRefusal extends Error {
  readonly log: readonly string[]

  constructor(message: string, log: readonly string[] = []) {
    super(message)
    this.log = log
  }
}
