/** Defines the options for reading a file of messages. */
import type { Command } from 'commander'
import { type ReadingSettings, readReadingTexts, type ReadingTexts } from '#formats/recording'
import { gather } from '../command.ts'

export type ReadingFlags = { -readonly [Name in keyof ReadingTexts]: ReadingTexts[Name] }

export function withReadingFlags(command: Command): Command {
  return command
    .option('--unit <unit>', 'unit of epoch numbers in the file: s, ms or us (default: ms)')
    .option('--types <name=type,...>', 'types of columns and metrics: number, text, boolean or json')
    .option('--encoding <name>', 'utf-8 or latin1 (default: utf-8)')
    .option('--delimiter <mark>', 'delimiter of CSV cells: comma, semicolon, tab or pipe (default: comma)')
    .option('--decimal <mark>', 'decimal mark of CSV numbers: . or , (default: .)')
    .option(
      '--map <column=metric>',
      'rename a CSV column, for example to timestamp or resource (repeatable)',
      gather,
      [],
    )
}

export function readReadingFlags(flags: ReadingFlags, problems: string[]): ReadingSettings {
  return readReadingTexts(flags, (name, text) => void problems.push(`--${name}: ${text}`))
}
