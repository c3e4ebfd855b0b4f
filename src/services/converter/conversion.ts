/** Renders the template of a converter over a payload, and reads what came out. */
import { AppError, LruCache, makeIssue, messageOf } from '#kernel'
import {
  Fault,
  type HostMethod,
  HostObject,
  JavaList,
  jsonText,
  type VelocityLimits,
  VelocityTemplate,
} from '#formats/velocity'
import { MAX_LEVELS, parseRendered } from '#services/shared'
import { type Converted, ConvertedJson, type Converter } from './converter-schema.ts'

/** `$util` of templates: what JSON needs and Velocity does not have. */
const HEX = /^(?:[0-9a-fA-F]{2})*$/

const bytes = (buffer: Buffer): JavaList => new JavaList([...buffer])

const METHODS: ReadonlyMap<string, HostMethod> = new Map<string, HostMethod>([
  ['renderValue', (args, environment) => (args.length === 1 ? jsonText(args[0] ?? null, environment) : undefined)],
  // null for what is none, as Java would not give it either
  ['fromHex', ([text]) => (typeof text === 'string' && HEX.test(text) ? bytes(Buffer.from(text, 'hex')) : null)],
  ['fromBase64', ([text]) => (typeof text === 'string' ? bytes(Buffer.from(text, 'base64')) : null)],
])

/** `renderValue(x)`: x as JSON, null for nothing. `fromHex(text)`, `fromBase64(text)`: a list of bytes, 0 to 255. */
const UTIL = new HostObject(METHODS)

/** templates of one host that are kept ready */
const MAX_READY = 1_000
/** characters of them */
const MAX_READY_CHARACTERS = 16 * 1024 * 1024
/** characters of rendered text in an error */
const MAX_RAW = 4_000

/** One rendering holds up whatever its thread has to do besides: it has to be short. */
const RENDER_LIMITS: Partial<VelocityLimits> = { ms: 250, characters: 8 * 1024 * 1024 }
/** What takes about half a millisecond, by counts: what takes more is begun again in another thread. */
const SMALL: Partial<VelocityLimits> = { steps: 2_000, characters: 256 * 1024 }
/** conversions of a template that go to another thread at once after one that took more */
const LONG_RUN = 15
/** characters of a template that is made ready in less than that */
const SMALL_TEMPLATE = 20_000

export interface Input {
  readonly payload: unknown
  /** what the wildcards of the topic stood for */
  readonly topic?: readonly string[]
}

type Template = Pick<Converter, 'template' | 'compat'>

/** What decides about a conversion. */
export interface ConversionWork {
  readonly converter: Template
  readonly input: Input
}

/** Conversions in other threads, counted for a tenant. */
export interface ConversionsElsewhere {
  /** as `Conversions.convert`; besides `RATE_LIMITED`, `TIMED_OUT` and `TOO_LARGE` of the thread */
  convert(tenant: string, work: ConversionWork): Promise<Converted>
  /** as `Conversions.prepare` */
  prepare(tenant: string, converter: Template): Promise<void>
}

/** Makes templates ready, and keeps those that were used last. */
export class Conversions {
  readonly #ready = new LruCache<string, VelocityTemplate>(MAX_READY)
  readonly #now: () => number
  #characters = 0
  /** by template: how many more go to another thread at once */
  readonly #long = new LruCache<string, number>(MAX_READY)

  /** `now`: ms */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Throws `TEMPLATE` with the place when it cannot be read. */
  prepare({ template, compat = '1.7' }: Template): VelocityTemplate {
    const key = keyOf({ template, compat })
    const known = this.#ready.get(key)
    if (known !== undefined) return known
    const made = new VelocityTemplate(template, { compat, now: this.#now, limits: RENDER_LIMITS })
    this.#characters += key.length
    // long templates push out all others at once: they are made ready again when they are used
    if (this.#characters > MAX_READY_CHARACTERS) {
      this.#ready.clear()
      this.#characters = key.length
    }
    this.#ready.set(key, made)
    return made
  }

  /** The rendered text. Throws `TEMPLATE`, or `CONVERSION` with the place. */
  render(converter: Template, input: Input): string {
    return this.prepare(converter).render(variablesOf(input))
  }

  /** The same as `readConverted` of what is rendered; the text is made where its value cannot be had without it. */
  convert(converter: Template, input: Input, limits?: Partial<VelocityLimits>): Converted {
    const template = this.prepare(converter)
    const variables = variablesOf(input)
    const value = template.renderJson(variables, MAX_LEVELS, parseRendered, limits)
    try {
      if (value !== undefined) return convertedOf(value)
    } catch {
      // what is wrong is reported with the text
    }
    return readConverted(template.render(variables, limits))
  }

  /** Whether it is made ready in no time, or is ready. */
  isSmall(converter: Template): boolean {
    return converter.template.length <= SMALL_TEMPLATE || this.#ready.get(keyOf(converter)) !== undefined
  }

  /** The same as `convert`; undefined when it takes more than little, which is to be done elsewhere. */
  convertSmall(converter: Template, input: Input): Converted | undefined {
    if (!this.isSmall(converter)) return undefined
    const key = keyOf(converter)
    const left = this.#long.get(key) ?? 0
    if (left > 0) {
      this.#long.set(key, left - 1)
      return undefined
    }
    try {
      return this.convert(converter, input, SMALL)
    } catch (error) {
      if (error instanceof AppError && error.cause instanceof Fault && error.cause.kind === 'limit') {
        this.#long.set(key, LONG_RUN)
        return undefined
      }
      throw error
    }
  }
}

function keyOf({ template, compat = '1.7' }: Template): string {
  return `${compat} ${template}`
}

function variablesOf({ payload, topic }: Input): Readonly<Record<string, unknown>> {
  return { payload, util: UTIL, ...(topic && { topic }) }
}

/** Throws `CONVERSION` for text that is not JSON or has no metrics; its issues have the text. */
export function readConverted(text: string): Converted {
  try {
    return convertedOf(parseRendered(text))
  } catch (error) {
    const message = `what the template makes cannot be used: ${messageOf(error)}`
    const issue = { ...makeIssue('CONVERSION', '', message), details: { rendered: text.slice(0, MAX_RAW) } }
    throw new AppError('CONVERSION', message, { issues: [issue] })
  }
}

function convertedOf(value: unknown): Converted {
  const { metrics, metadata } = ConvertedJson.read(value)
  return { metrics, ...(metadata && { metadata }) }
}
