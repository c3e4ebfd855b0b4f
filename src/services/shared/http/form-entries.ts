/** Parses `multipart/form-data` with the parser built into Node. */
import { AppError } from '#kernel'

export const FORM_TYPE = /^multipart\/form-data/i

/** Returns names and values in order; a file also has a file name. Throws `VALIDATION` for an unreadable form. */
export async function formEntries(type: string, bytes: Uint8Array): Promise<Iterable<[string, string | File]>> {
  try {
    return (await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData()).entries()
  } catch (error) {
    throw new AppError('VALIDATION', 'the form cannot be read; name its boundary in the content type', { cause: error })
  }
}
