import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** A new folder, which goes when the tests of its file are over, or with `onTestFinished` the test. */
export function testFolder(whenOver: (work: () => void) => void = afterAll): string {
  const folder = mkdtempSync(join(tmpdir(), 'reflexarc-test-'))
  whenOver(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
