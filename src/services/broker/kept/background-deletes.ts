/** Deletes documents in the background, many in one commit; what a crash leaves behind is deleted after the restart. */
import { messageOf } from '#kernel'
import type { Store, Write } from '#storage'

const MAX_AT_ONCE = 500

export class BackgroundDeletes {
  readonly #store: Store
  readonly #report: (what: string) => void
  #waiting: Write[] = []
  #running: Promise<void> | undefined

  constructor(store: Store, report: (what: string) => void) {
    this.#store = store
    this.#report = report
  }

  add(write: Write): void {
    this.#waiting.push(write)
    this.#running ??= this.#run()
  }

  async idle(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    // collects the deletes of this turn
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const writes = this.#waiting.splice(0, MAX_AT_ONCE)
      await this.#store.commit(writes).catch((error: unknown) => {
        this.#report(`${writes.length} old documents of MQTT were not deleted: ${messageOf(error)}`)
      })
    }
    this.#running = undefined
  }
}
