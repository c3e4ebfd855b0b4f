/** Decides how to read an imported file, from its metadata and from a first pass over the file. */
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { IANAZone } from 'luxon'
import { AppError, decodedText, withFirst } from '#kernel'
import {
  type ClockZone,
  type LineProblem,
  mixedText,
  type ReadingOptions,
  readReadingTexts,
  surveyRecording,
  UTC,
} from '#formats/recording'
import { offsetMs } from '#services/shared'

const NAMES = ['unit', 'types', 'encoding', 'delimiter', 'decimal', 'map', 'zone', 'resource'] as const
const DAY = 86_400_000

/** Settings from the metadata `x-amz-meta-<name>`, each percent-encoded; `map` is a JSON list of `column=metric`. */
export type ReadingSettings = { readonly [Name in (typeof NAMES)[number]]?: string }

export interface FoundColumns {
  /** type by column, for the first 100 columns */
  readonly types: Readonly<Record<string, string>>
  /** text columns that also contain numbers, with the reason; the first 100 columns */
  readonly notes: readonly LineProblem[]
}

export interface SurveyedFile {
  readonly reading: ReadingOptions
  readonly columns: FoundColumns
  readonly problems: readonly LineProblem[]
}

const MAX_SHOWN = 100

export function readingIn(metadata: Readonly<Record<string, string>> = {}): ReadingSettings | undefined {
  const given = NAMES.flatMap((name) => {
    const text = metadata[name]
    return text === undefined ? [] : [[name, decodedText(text)] as const]
  })
  return given.length === 0 ? undefined : Object.fromEntries(given)
}

export function readingOf({ map, zone, resource, ...texts }: ReadingSettings = {}): ReadingOptions {
  const problems: string[] = []
  const problem = (name: string, text: string): void => void problems.push(`the metadata ${name}: ${text}`)
  const list = map === undefined ? [] : listIn(map)
  if (list === undefined) problem('map', 'it is not a JSON list of texts; write ["column=metric"]')
  const reading = readReadingTexts({ ...texts, map: list ?? [] }, problem)
  const clock = zone === undefined ? UTC : zoneNamed(zone)
  if (clock === undefined)
    problem('zone', `"${zone?.slice(0, 80)}" is not a time zone; write one such as Europe/Brussels`)
  if (problems.length > 0) throw new AppError('VALIDATION', problems.join('; '))
  return { zone: clock ?? UTC, resource, everyProblem: true, ...reading }
}

function listIn(text: string): readonly string[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined
  } catch {
    return undefined
  }
}

function zoneNamed(name: string): ClockZone | undefined {
  if (!IANAZone.isValidZone(name)) return undefined
  return {
    name,
    instantsOf: (reading) => {
      const offsets = new Set([reading - DAY, reading + DAY].map((time) => offsetMs(time, name)))
      const instants = [...offsets].map((offset) => reading - offset)
      return instants.filter((time) => time + offsetMs(time, name) === reading).toSorted((a, b) => a - b)
    },
  }
}

export async function surveyFile(
  content: AsyncIterable<Uint8Array>,
  reading: ReadingOptions,
  isOver: () => boolean,
): Promise<SurveyedFile | undefined> {
  const survey = surveyRecording(await unpacked(content), reading)
  let step = await survey.next()
  for (; step.done !== true; step = await survey.next()) {
    if (isOver()) {
      await survey.return({ format: undefined, types: new Map(), mixed: [], problems: [] })
      return undefined
    }
  }
  const { types, mixed, problems } = step.value
  return {
    reading: { ...reading, types },
    columns: {
      types: Object.fromEntries([...types].slice(0, MAX_SHOWN)),
      notes: mixed.slice(0, MAX_SHOWN).map((column) => ({ line: column.line, message: mixedText(column) })),
    },
    problems,
  }
}

export async function unpacked(content: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const chunks = content[Symbol.asyncIterator]()
  const first = await chunks.next()
  const whole = withFirst(first, chunks)
  const isPacked = first.done !== true && first.value[0] === 0x1f && first.value[1] === 0x8b
  if (!isPacked) return whole
  // an error in either stream reaches the reader
  return pipeline(Readable.from(whole, { objectMode: false }), createGunzip(), () => undefined)
}
