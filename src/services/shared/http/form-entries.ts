/** The parts of a form in `multipart/form-data`, by what the platform has for it. */
import { AppError } from '#kernel'

export const FORM_TYPE = /^multipart\/form-data/i

/** Names and values in their order; a file is one with a name of its own. `VALIDATION` when it cannot be read. */
export async function formEntries(type: string, bytes: Uint8Array): Promise<Iterable<[string, string | File]>> {
  try {
    return (await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData()).entries()
  } catch (error) {
    throw new AppError('VALIDATION', 'the form cannot be read; name its boundary in the content type', { cause: error })
  }
}
