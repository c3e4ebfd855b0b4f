/** Renders the template of a converter with a payload, and parses the result. */
import { AppError, LruCache, makeIssue, MAX_JSON_DEPTH, messageOf } from '#kernel'
import {
  Fault,
  type HostMethod,
  HostObject,
  JavaList,
  jsonText,
  type VelocityLimits,
  VelocityTemplate,
} from '#formats/velocity'
import { parsePayload, parseRendered } from '#services/shared'
import { type Converted, ConvertedJson, type Converter, ConverterTest } from './converter-schema.ts'
import { wildcardsOf } from './topics.ts'

/** Functions that templates call as `$util`, which add JSON and bytes to Velocity. */
const HEX = /^(?:[0-9a-fA-F]{2})*$/

const bytes = (buffer: Buffer): JavaList => new JavaList([...buffer])

const METHODS: ReadonlyMap<string, HostMethod> = new Map<string, HostMethod>([
  ['renderValue', (args, environment) => (args.length === 1 ? jsonText(args[0] ?? null, environment) : undefined)],
  ['fromHex', ([text]) => (typeof text === 'string' && HEX.test(text) ? bytes(Buffer.from(text, 'hex')) : null)],
  ['fromBase64', ([text]) => (typeof text === 'string' ? bytes(Buffer.from(text, 'base64')) : null)],
])

/** `renderValue(x)`: JSON, or null when x is missing. `fromHex(text)`, `fromBase64(text)`: bytes, 0 to 255. */
const UTIL = new HostObject(METHODS)

const MAX_READY = 1_000
/** maximum number of characters of all cached templates */
const MAX_READY_CHARACTERS = 16 * 1024 * 1024
/** maximum number of characters of rendered text in an error */
const MAX_RAW = 4_000

const RENDER_LIMITS: Partial<VelocityLimits> = { ms: 250, characters: 8 * 1024 * 1024 }
/** Limits on this thread, reached within about half a millisecond; longer renderings restart on another. */
const SMALL: Partial<VelocityLimits> = { steps: 2_000, characters: 256 * 1024 }
/** number of conversions of a template that go straight to another thread after a long conversion */
const LONG_RUN = 15
/** maximum number of characters of a template that compiles within the same time */
const SMALL_TEMPLATE = 20_000

export interface Input {
  readonly payload: unknown
  readonly topic?: readonly string[]
}

type Template = Pick<Converter, 'template' | 'compat'>

export interface ConversionWork {
  readonly converter: Template
  readonly input: Input | (Omit<Input, 'payload'> & { readonly text: string })
}

export const UNREADABLE = 'PAYLOAD'

/** Conversions on other threads, counted against the budget of a tenant. */
export interface ConversionsElsewhere {
  /** Like `Conversions.convert`; also throws `RATE_LIMITED`, `TIMED_OUT` and `TOO_LARGE`. */
  convert(tenant: string, work: ConversionWork): Promise<Converted>
  /** Runs a test from the text of its request. Returns the result, or throws the problems of the request. */
  test(tenant: string, text: string): Promise<Converted>
  prepare(tenant: string, converter: Template): Promise<void>
}

export class Conversions {
  readonly #ready = new LruCache<string, VelocityTemplate>(MAX_READY)
  readonly #now: () => number
  #characters = 0
  readonly #long = new LruCache<string, number>(MAX_READY)

  /** `now`: returns the current time in ms. */
  constructor(now: () => number) {
    this.#now = now
  }

  prepare({ template, compat = '1.7' }: Template): VelocityTemplate {
    const key = keyOf({ template, compat })
    const known = this.#ready.get(key)
    if (known !== undefined) return known
    const made = new VelocityTemplate(template, { compat, now: this.#now, limits: RENDER_LIMITS })
    this.#characters += key.length
    // when cached templates grow too long in total, drop them all
    if (this.#characters > MAX_READY_CHARACTERS) {
      this.#ready.clear()
      this.#characters = key.length
    }
    this.#ready.set(key, made)
    return made
  }

  /** Returns the result as JSON, in which long integers keep their digits. Throws like `convert`, and `UNREADABLE`. */
  work({ converter, input }: ConversionWork): string {
    return JSON.stringify(
      this.convert(converter, 'text' in input ? { ...input, payload: readText(input.text) } : input),
    )
  }

  testWork(text: string): string {
    const { converter, input } = readTest(readText(text))
    return JSON.stringify(this.convert(converter, input))
  }

  /** Returns the rendered text. Throws `TEMPLATE`, or `CONVERSION` with the position. */
  render(converter: Template, input: Input): string {
    return this.prepare(converter).render(variablesOf(input))
  }

  /** Has the same result as `readConverted` of the rendered text, but builds that text only when needed. */
  convert(converter: Template, input: Input, limits?: Partial<VelocityLimits>): Converted {
    const template = this.prepare(converter)
    const variables = variablesOf(input)
    const value = template.renderJson(variables, MAX_JSON_DEPTH, parseRendered, limits)
    try {
      if (value !== undefined) return convertedOf(value)
    } catch {
      // render the text after all, to report the problem with it
    }
    return readConverted(template.render(variables, limits))
  }

  /** True when the converter's template compiles quickly or is cached. */
  isSmall(converter: Template): boolean {
    return converter.template.length <= SMALL_TEMPLATE || this.#ready.get(keyOf(converter)) !== undefined
  }

  /** Undefined when the conversion exceeds the small limits and belongs on another thread. */
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

export function readTest(body: unknown): { readonly converter: Template; readonly input: Input } {
  const { config, payload, topic } = ConverterTest.read(body)
  const wildcards = topic === undefined ? undefined : wildcardsOf(config.mqtt?.topic ?? '', topic)
  if (topic !== undefined && wildcards === undefined) {
    throw new AppError('VALIDATION', `the topic "${topic.slice(0, 200)}" does not match that of the converter`)
  }
  return { converter: config, input: { payload, ...(wildcards && { topic: wildcards }) } }
}

/** Throws `CONVERSION`, with the text, for output that is not JSON or lacks metrics. */
export function readConverted(text: string): Converted {
  try {
    return convertedOf(parseRendered(text))
  } catch (error) {
    const message = `the output of the template is unusable: ${messageOf(error)}`
    const issue = { ...makeIssue('CONVERSION', '', message), details: { rendered: text.slice(0, MAX_RAW) } }
    throw new AppError('CONVERSION', message, { issues: [issue] })
  }
}

function convertedOf(value: unknown): Converted {
  const { metrics, metadata } = ConvertedJson.read(value)
  return { metrics, ...(metadata && { metadata }) }
}
