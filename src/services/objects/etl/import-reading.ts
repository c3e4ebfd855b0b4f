/** Decides how to read an imported file, from its metadata and from a first pass over the file. */
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { AppError, decodedText, EPOCH_UNITS, withFirst } from '#kernel'
import {
  ENCODINGS,
  type LineProblem,
  mixedText,
  type ReadingOptions,
  readValueTypes,
  surveyRecording,
  TYPES_FORM,
  UTC,
} from '#formats/recording'

/** Settings from the metadata `x-amz-meta-unit`, `x-amz-meta-types` (percent-encoded) and `x-amz-meta-encoding`. */
export interface ReadingSettings {
  readonly unit?: string
  readonly types?: string
  readonly encoding?: string
}

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
  const { unit, types, encoding } = metadata
  if (unit === undefined && types === undefined && encoding === undefined) return undefined
  return {
    ...(unit !== undefined && { unit }),
    ...(types !== undefined && { types: decodedText(types) }),
    ...(encoding !== undefined && { encoding }),
  }
}

export function readingOf(settings: ReadingSettings = {}): ReadingOptions {
  const problems: string[] = []
  const oneOf = <T extends string>(name: string, names: readonly T[], text: string | undefined): T | undefined => {
    const found = names.find((one) => one === text)
    if (text !== undefined && found === undefined) {
      problems.push(`the metadata ${name} is "${text.slice(0, 80)}"; write one of ${names.join(', ')}`)
    }
    return found
  }
  const unit = oneOf('unit', EPOCH_UNITS, settings.unit)
  const encoding = oneOf('encoding', ENCODINGS, settings.encoding)
  const types = settings.types === undefined ? undefined : readValueTypes(settings.types)
  if (types !== undefined && 'problem' in types) problems.push(`the metadata types: ${types.problem}; ${TYPES_FORM}`)
  if (problems.length > 0) throw new AppError('VALIDATION', problems.join('; '))
  return {
    zone: UTC,
    resource: undefined,
    everyProblem: true,
    ...(unit !== undefined && { unit }),
    ...(encoding !== undefined && { encoding }),
    ...(types !== undefined && !('problem' in types) && { types }),
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
