/** Defines the options for reading a file of messages. */
import type { Command } from 'commander'
import { type ReadingSettings, readReadingTexts, type ReadingTexts } from '#formats/recording'
import { gather } from '../command.ts'

export type ReadingFlags = { -readonly [Name in keyof ReadingTexts]: ReadingTexts[Name] }

export function withReadingFlags(command: Command): Command {
  return command
    .option('--unit <unit>', 'unit of epoch numbers in the file: s, ms or us (default: ms)')
    .option('--types <name=type,...>', 'what columns and metrics are: number, text, boolean or json')
    .option('--encoding <name>', 'utf-8 or latin1 (default: utf-8)')
    .option('--delimiter <mark>', 'between the cells of a CSV: comma, semicolon, tab or pipe (default: comma)')
    .option('--decimal <mark>', 'decimal mark of a CSV: . or , (default: .)')
    .option(
      '--map <column=metric>',
      'other name of a column of a CSV, also timestamp and resource (repeatable)',
      gather,
      [],
    )
}

export function readReadingFlags(flags: ReadingFlags, problems: string[]): ReadingSettings {
  return readReadingTexts(flags, (name, text) => void problems.push(`--${name}: ${text}`))
}
