/** `reflexarc restore`: restores a backup into a new data folder. */
import { resolve } from 'node:path'
import type { Environment } from '#host/spi'
import { BackupFolder } from './backup/backup-folder.ts'
import { restoreBackup } from './backup/restore-backup.ts'
import { checkApart } from './backup/take-backup.ts'
import { type BackupFlags, sourceOf } from './backup.ts'
import { DATA, type DefineCommand } from './command.ts'
import { Progress } from './report/progress.ts'
import type { Terminal } from './terminal.ts'

export const define: DefineCommand = (command, start) => {
  command
    .description(
      'Restores a backup of reflexarc backup into a new, empty data folder. Checks each chunk; the folder appears only ' +
        'when it is complete. A host that starts with it continues where the backup was taken: timers that were due ' +
        'since then run at once, as after a stop.',
    )
    .argument('<folder>', 'the folder of backups')
    .option(...DATA)
    .option('--blobs <folder>', 'the new folder of objects, if it is not in the data folder (REFLEXARC_BLOBS)')
    .option('--at <backup>', 'the name of a backup (default: the newest); reflexarc backup --list lists them')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  reflexarc restore /mnt/backups --data ./restored')
    .action((folder: string, flags: RestoreFlags) =>
      start((terminal) => runRestore(resolve(folder), flags, process.env, terminal, Date.now)),
    )
}

export interface RestoreFlags extends Pick<BackupFlags, 'data' | 'blobs' | 'json'> {
  at?: string
}

/** Throws `NOT_FOUND` for an unknown backup, `STORE` for a damaged one, another version, or a folder with content. */
export async function runRestore(
  path: string,
  flags: RestoreFlags,
  env: Environment,
  terminal: Pick<Terminal, 'out' | 'err' | 'errIsTerminal'>,
  now: () => number,
): Promise<0> {
  const target = sourceOf(flags, env)
  checkApart(path, target)
  const progress = new Progress((text) => terminal.errIsTerminal && terminal.err(text), now)
  using folder = await BackupFolder.open(path, false)
  try {
    const manifest = await folder.read(flags.at)
    await restoreBackup(folder, manifest, target, (share, text) => progress.show(share, text))
    progress.clear()
    const { name, files } = manifest
    const done = { name, files: files.length, ...target }
    const text = `restored ${name} with ${files.length} files into ${target.data}; start it with: reflexarc serve --data ${target.data}`
    terminal.out(flags.json === true ? `${JSON.stringify(done)}\n` : `${text}\n`)
    return 0
  } finally {
    progress.clear()
  }
}
