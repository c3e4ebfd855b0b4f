/** One sample of the alarms service on SQLite in a folder of its own, or of the same writes without the service. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AlarmsSample, AlarmsSubject } from './subject.ts'

export async function alarmsSample(subject: AlarmsSubject): Promise<AlarmsSample> {
  const folder = mkdtempSync(join(tmpdir(), 'reflexarc-bench-'))
  try {
    switch (subject) {
      case 'raise':
      case 'raise-writes':
      case 'repeat':
      case 'repeat-writes':
        return await (await import('./writes.ts')).writesSample(subject, folder)
      case 'list':
        return await (await import('./list.ts')).listSample(folder)
      case 'stream':
        return await (await import('./stream.ts')).streamSample(folder)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
