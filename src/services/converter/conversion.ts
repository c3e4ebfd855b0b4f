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
import { MAX_LEVELS, parsePayload, parseRendered } from '#services/shared'
import { type Converted, ConvertedJson, type Converter, ConverterTest } from './converter-schema.ts'
import { wildcardsOf } from './topics.ts'

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

/** What decides about a conversion. `text`: the payload is read where it is converted. */
export interface ConversionWork {
  readonly converter: Template
  readonly input: Input | (Omit<Input, 'payload'> & { readonly text: string })
}

/** The type of the issue of a payload whose text cannot be read. */
export const UNREADABLE = 'PAYLOAD'

/** Conversions in other threads, counted for a tenant. */
export interface ConversionsElsewhere {
  /** as `Conversions.convert`; besides `RATE_LIMITED`, `TIMED_OUT` and `TOO_LARGE` of the thread */
  convert(tenant: string, work: ConversionWork): Promise<Converted>
  /** a test whose request is this text: what the payload becomes, or the problems of the request */
  test(tenant: string, text: string): Promise<Converted>
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

  /** The result as JSON, in which long whole numbers stay as they are written. Throws as `convert`, and `UNREADABLE`. */
  work({ converter, input }: ConversionWork): string {
    return JSON.stringify(
      this.convert(converter, 'text' in input ? { ...input, payload: readText(input.text) } : input),
    )
  }

  /** The same of a test as it was sent; the request may be wrong as a whole besides. */
  testWork(text: string): string {
    const { converter, input } = readTest(readText(text))
    return JSON.stringify(this.convert(converter, input))
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

function readText(text: string): unknown {
  try {
    return parsePayload(text)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError(error.code, error.message, { issues: [makeIssue(UNREADABLE, '', error.message)] })
  }
}

/** Throws `VALIDATION` for what is not a test. */
export function readTest(body: unknown): { readonly converter: Template; readonly input: Input } {
  const { config, payload, topic } = ConverterTest.read(body)
  const wildcards = topic === undefined ? undefined : wildcardsOf(config.mqtt?.topic ?? '', topic)
  if (topic !== undefined && wildcards === undefined) {
    throw new AppError('VALIDATION', `the topic "${topic.slice(0, 200)}" does not fit the one of the converter`)
  }
  return { converter: config, input: { payload, ...(wildcards && { topic: wildcards }) } }
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
