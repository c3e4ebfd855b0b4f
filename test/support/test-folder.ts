import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** Creates a folder that is removed after the tests of a file, or with `onTestFinished` after the test. */
export function testFolder(whenOver: (work: () => void) => void = afterAll): string {
  const folder = mkdtempSync(join(tmpdir(), 'reflexarc-test-'))
  whenOver(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
