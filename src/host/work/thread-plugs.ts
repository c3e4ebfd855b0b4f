/** The operator's plugs as threads have them: by the addresses of their modules, as long as these can be loaded there. */
import type { Logger } from '#kernel'
import type { Plug } from '#plug'

export interface ThreadPlugsOptions {
  readonly plugs: () => readonly Plug[]
  /** addresses of modules that export them; the same list until they are others. Absent: threads cannot have them */
  readonly modules: (() => readonly string[]) | undefined
  readonly logger: Pick<Logger, 'warn'>
}

export class ThreadPlugs {
  readonly #options: ThreadPlugsOptions
  /** modules that a thread could not load */
  #failed: readonly string[] | undefined

  constructor(options: ThreadPlugsOptions) {
    this.#options = options
  }

  /** what a thread loads before it runs rules */
  get modules(): readonly string[] {
    const modules = this.#options.modules?.()
    return modules === undefined || modules === this.#failed ? [] : modules
  }

  /** names of plugs that only this thread has */
  get onlyHere(): readonly string[] {
    return this.modules.length > 0 ? [] : this.#options.plugs().map(({ name }) => name)
  }

  /** Their rules run in this thread until there are other modules. */
  failed(reason: string): void {
    this.#failed = this.#options.modules?.()
    this.#options.logger.warn(`plugs run on the main thread, since other threads cannot load them: ${reason}`)
  }
}
