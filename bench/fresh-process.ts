/** Takes a sample in a fresh process, since earlier work biases later measurements. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { SampleKind, SampleRequest, Samples } from './samples/sample.ts'

/** `root`: folder of the checkout to measure. Rejects with the output of the child on a nonzero exit code. */
export function sampleInFreshProcess<Kind extends SampleKind>(
  kind: Kind,
  request: Omit<SampleRequest<Kind>, 'kind'>,
  root: string,
): Promise<Samples[Kind]> {
  return new Promise((resolve, reject) => {
    const entry = join(root, 'bench', 'run.ts')
    const args = ['--expose-gc', entry, '--sample', JSON.stringify({ ...request, kind })]
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let complaint = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve(JSON.parse(output) as Samples[Kind])
      else reject(new Error(complaint.trim() || `the process ended with ${signal ?? code}`))
    })
  })
}
