/** The command `doctor` and its options. */
import type { DefineCommand } from './command.ts'
import type { DoctorFlags } from './run-doctor.ts'

/** `reflexarc doctor`: names what of a data folder is not as it was written. */
export const defineDoctor: DefineCommand = (program, start) => {
  program
    .command('doctor')
    .summary('find damage in a data folder, and repair it')
    .description(
      'Reads everything in a data folder, whether a host runs on it or not, and lists what is not as it was written: rows of\n' +
        'state.db and series.db, objects, and keys. Changes nothing, and the exit code is 1 when something is damaged.\n' +
        'With --repair, on a folder that no host has, damaged files are set aside in it, and rebuilt from what is whole;\n' +
        'lost samples and messages that the log still has are applied again. Objects and keys stay as they are.',
    )
    .option('--data <folder>', 'the data folder of the host (REFLEXARC_DATA, default ./data)')
    .option('--blobs <folder>', 'the folder of objects, where it is another one (REFLEXARC_BLOBS)')
    .option('--repair', 'set what is damaged aside, and list what is lost')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  reflexarc doctor --data ./data')
    .action((flags: DoctorFlags) =>
      start(async (terminal) => (await import('./run-doctor.ts')).runDoctor(flags, process.env, terminal, Date.now)),
    )
}
