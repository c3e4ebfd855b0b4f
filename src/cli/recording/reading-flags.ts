/** Defines the options for reading a file of messages. */
import type { Command } from 'commander'
import { EPOCH_UNITS, type EpochUnit } from '#kernel'
import { type Encoding, ENCODINGS, type ReadingOptions, readValueTypes, TYPES_FORM } from '#formats/recording'

export interface ReadingFlags {
  unit?: string
  types?: string
  encoding?: string
}

export type GivenReading = Pick<ReadingOptions, 'unit' | 'types' | 'encoding'>

export function withReadingFlags(command: Command): Command {
  return command
    .option('--unit <unit>', 'unit of epoch numbers in the file: s, ms or us (default: ms)')
    .option('--types <name=type,...>', 'what columns and metrics are: number, text, boolean or json')
    .option('--encoding <name>', 'utf-8 or latin1 (default: utf-8)')
}

export function readReadingFlags({ unit, types, encoding }: ReadingFlags, problems: string[]): GivenReading {
  const flags: GivenReading = {}
  if (unit !== undefined) {
    if (isOneOf(EPOCH_UNITS, unit)) flags.unit = unit satisfies EpochUnit
    else problems.push(`--unit: "${unit}" is not a unit; write one of ${EPOCH_UNITS.join(', ')}`)
  }
  if (encoding !== undefined) {
    if (isOneOf(ENCODINGS, encoding)) flags.encoding = encoding satisfies Encoding
    else problems.push(`--encoding: "${encoding}" is not read; write one of ${ENCODINGS.join(', ')}`)
  }
  if (types !== undefined) {
    const read = readValueTypes(types)
    if ('problem' in read) problems.push(`--types: ${read.problem}; ${TYPES_FORM}`)
    else flags.types = read
  }
  return flags
}

function isOneOf<T extends string>(names: readonly T[], name: string): name is T {
  return names.some((one) => one === name)
}
