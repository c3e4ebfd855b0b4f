/** Reads the settings for reading a recording, as users write them: options of commands, metadata of files. */
import { EPOCH_UNITS, FORBIDDEN_KEYS } from '#kernel'
import type { ReadingOptions } from './message-taker.ts'
import { ENCODINGS } from './utf8.ts'
import { readValueTypes, TYPES_FORM } from './value-types.ts'

export interface ReadingTexts {
  readonly unit?: string
  readonly types?: string
  readonly encoding?: string
  readonly delimiter?: string
  readonly decimal?: string
  /** each `column=metric` */
  readonly map?: readonly string[]
}

export type ReadingSettings = Pick<ReadingOptions, Exclude<keyof ReadingTexts, undefined>>

/** Names, since a shell and a header of HTTP do not transport every character. */
const DELIMITERS: Readonly<Record<string, string>> = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' }
const DECIMALS = ['.', ','] as const

/** Calls `problem` with the name of each invalid setting, and what is wrong with it. */
export function readReadingTexts(
  { unit, types, encoding, delimiter, decimal, map = [] }: ReadingTexts,
  problem: (name: keyof ReadingTexts, text: string) => void,
): ReadingSettings {
  const oneOf = <T extends string>(name: keyof ReadingTexts, names: readonly T[], text: string | undefined) => {
    const found = names.find((one) => one === text)
    if (text !== undefined && found === undefined)
      problem(name, `"${text.slice(0, 80)}" is not valid; write one of ${names.join(', ')}`)
    return found
  }
  const read = { unit: oneOf('unit', EPOCH_UNITS, unit), encoding: oneOf('encoding', ENCODINGS, encoding) }
  const point = oneOf('decimal', DECIMALS, decimal)
  const separator = Object.entries(DELIMITERS).find((names) => names.includes(delimiter ?? ''))?.[1]
  if (separator === undefined) oneOf('delimiter', Object.keys(DELIMITERS), delimiter)
  const valueTypes = types === undefined ? undefined : readValueTypes(types)
  if (valueTypes !== undefined && 'problem' in valueTypes) problem('types', `${valueTypes.problem}; ${TYPES_FORM}`)
  const mapped = new Map<string, string>()
  for (const text of map) {
    const equals = text.lastIndexOf('=')
    const [column, metric] = [text.slice(0, Math.max(0, equals)).trim(), text.slice(equals + 1).trim()]
    if (column === '' || metric === '' || FORBIDDEN_KEYS.has(metric))
      problem('map', `"${text.slice(0, 80)}" is not valid; write column=metric, such as "Temp. (C)=temperature"`)
    else if (mapped.has(column)) problem('map', `the column ${column} appears twice; name it once`)
    else mapped.set(column, metric)
  }
  if (point === ',' && (separator ?? ',') === ',')
    problem('decimal', 'the comma also separates the cells; add another delimiter, such as semicolon')
  return {
    ...(read.unit !== undefined && { unit: read.unit }),
    ...(read.encoding !== undefined && { encoding: read.encoding }),
    ...(valueTypes !== undefined && !('problem' in valueTypes) && { types: valueTypes }),
    ...(separator !== undefined && { delimiter: separator }),
    ...(point !== undefined && { decimal: point }),
    ...(mapped.size > 0 && { map: mapped }),
  }
}
