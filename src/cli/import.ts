/** The command `import` and its options. */
import type { DefineCommand } from './command.ts'
import { connected } from './connected.ts'
import { withReadingFlags } from './recording/reading-flags.ts'
import type { ImportFlags } from './run-import.ts'

/** `reflexarc import FILE`: a file of messages becomes series of a host. */
export const defineImport: DefineCommand = (program, start) => {
  withReadingFlags(connected(program.command('import')))
    .summary('bring a file of messages into the series of a host')
    .description(
      'Puts a CSV or NDJSON file, packed by gzip or not, into the bucket etl-import of a host, and waits until it is in\n' +
        'the series. Started again after it was interrupted, it goes on with what is there. It ends with 1 when the\n' +
        'import fails, or lines of the file are refused.',
    )
    .argument('<file>', 'with the columns resource, timestamp and metrics, or resource, metric, timestamp and value')
    .option('--again', 'also when the same content was imported before')
    .option('--as <path>', 'its path under upload/; default: the name of the file')
    .action((file: string, flags: ImportFlags) =>
      start(async (terminal) => (await import('./run-import.ts')).runImport(file, flags, terminal, process.env)),
    )
}
