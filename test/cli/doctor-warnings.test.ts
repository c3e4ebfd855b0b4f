/** `reflexarc doctor` warns of gaps in the hand-over of stored calendars. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runDoctor } from '../../src/cli/doctor.ts'
import { openMedium } from '../../src/host/open-medium.ts'
import { Calendars } from '../../src/services/calendars/service.ts'

const NOON = Date.UTC(2026, 0, 5, 12)

it('warns of calendars without a contact on call', async () => {
  const data = mkdtempSync(join(tmpdir(), 'reflexarc-doctor-'))
  try {
    const storage = await openMedium({ store: { medium: 'sqlite' }, data, blobs: undefined })
    const calendars = new Calendars({ store: storage.tenant('acme'), now: () => NOON })
    const shifts = [{ name: 'day', from: '08:00', to: '20:00', onCall: ['ann'] }]
    await calendars.as({ tenant: 'acme', user: 'tester' }).put('duty', { zone: 'UTC', shifts })
    await storage.close()
    let text = ''
    const code = await runDoctor({ data }, {}, { out: (line) => void (text += line) }, () => NOON)
    expect(code).toBe(0)
    expect(text.split('\n').slice(0, 1)).toEqual([
      'warning: calendar duty of tenant acme: no contact is on call from 2026-01-05T20:00:00+00:00 to 2026-01-06T08:00:00+00:00',
    ])
    expect(text).toContain('no damage: read ')
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
})
