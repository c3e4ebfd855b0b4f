/** Provides the addresses of the operator's plug modules to threads, as long as threads can load them. */
import type { Logger } from '#kernel'
import type { Plug } from '#plug'

export interface ThreadPlugsOptions {
  readonly plugs: () => readonly Plug[]
  /** Returns the module addresses: the same list until it changes. Absent: threads cannot load the plugs */
  readonly modules: (() => readonly string[]) | undefined
  readonly logger: Pick<Logger, 'warn'>
}

export class ThreadPlugs {
  readonly #options: ThreadPlugsOptions
  #failed: readonly string[] | undefined

  constructor(options: ThreadPlugsOptions) {
    this.#options = options
  }

  /** Modules that a thread must load before it runs rules */
  get modules(): readonly string[] {
    const modules = this.#options.modules?.()
    return modules === undefined || modules === this.#failed ? [] : modules
  }

  get onlyHere(): readonly string[] {
    return this.modules.length > 0 ? [] : this.#options.plugs().map(({ name }) => name)
  }

  /**
   * Reports that threads failed to load the modules. Rules with these plugs then run in this thread until the modules
   * change.
   */
  failed(reason: string): void {
    this.#failed = this.#options.modules?.()
    this.#options.logger.warn(`plugs run on the main thread, since other threads failed to load them: ${reason}`)
  }
}
