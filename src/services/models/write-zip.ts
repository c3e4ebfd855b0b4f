/** Writes the zip of a model whose files came one by one, with the loop for others between its parts. */
import { Zip, ZipPassThrough } from 'fflate'
import { partsOf } from '#services/shared'

/** Files by path. They are stored as they are: what libraries save is hardly made smaller. */
export async function writeZip(files: ReadonlyMap<string, Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  const failures: Error[] = []
  const zip = new Zip((error, piece) => {
    if (error === null) pieces.push(piece)
    else failures.push(error)
  })
  for (const [path, content] of files) {
    const entry = new ZipPassThrough(path)
    // the same files give the same zip
    entry.mtime = EPOCH
    zip.add(entry)
    for await (const part of partsOf(content)) entry.push(part)
    entry.push(new Uint8Array(), true)
  }
  zip.end()
  for (const failure of failures) throw failure
  return Buffer.concat(pieces)
}

/** the first moment that a zip can tell, in any zone */
const EPOCH = '1980-01-02'
