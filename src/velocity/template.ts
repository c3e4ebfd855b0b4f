/**
 * Velocity templates over plain JSON that print what Apache's engine prints. A template is read and made ready once,
 * and rendered as often as wanted.
 */
import { Budget, LIMITS, type VelocityLimits } from './budget.ts'
import { asAppError, Fault, placeOf } from './fault.ts'
import { RootContext } from './render/context.ts'
import { Run } from './render/run.ts'
import { makeReady, type Ready } from './render/statements.ts'
import { parseTemplate } from './syntax/statements.ts'
import type { Compat } from './values/value.ts'

export interface TemplateOptions {
  /** whose ways it follows; default `1.7` */
  readonly compat?: Compat
  readonly limits?: Partial<VelocityLimits>
  /** ms, for the limit of time */
  readonly now: () => number
}

export class VelocityTemplate {
  readonly #source: string
  readonly #ready: Ready
  readonly #options: TemplateOptions
  readonly #limits: VelocityLimits

  /** Throws `TEMPLATE` with the place when the text is no template. */
  constructor(source: string, options: TemplateOptions) {
    this.#source = source
    this.#options = options
    this.#limits = { ...LIMITS, ...options.limits }
    const { compat = '1.7' } = options
    const counts = /velocity(?:Count|HasNext)|evaluate/.test(source)
    try {
      this.#ready = makeReady(parseTemplate(source, compat), compat, counts)
    } catch (error) {
      throw this.#told(error, 0)
    }
  }

  /**
   * The text with these variables, which are JSON and are not changed, or objects of the host. Throws `CONVERSION` with
   * the place when Apache's engine would fail or a limit is passed, `TEMPLATE` when `#evaluate` is given no template.
   */
  render(variables: Readonly<Record<string, unknown>>): string {
    const { compat = '1.7', now } = this.#options
    const { exec, macros } = this.#ready
    const run = new Run(compat, new Budget(this.#limits, now), new RootContext(variables), macros)
    try {
      return run.whole(exec)
    } catch (error) {
      throw this.#told(error, run.at)
    }
  }

  /** What the caller gets for an error at this offset. */
  #told(error: unknown, at: number): unknown {
    // the machine's own stack is the last of all limits
    const fault = error instanceof RangeError ? new Fault('limit', 'it nests too deep') : error
    if (!(fault instanceof Fault)) return error
    fault.place ??= placeOf(this.#source, at)
    return asAppError(fault, this.#source)
  }
}
