/** Copies a request as a curl command, and as code. */
import { API } from '../base.ts'
import { codeText, curlText } from '../words/curl.ts'
import { Icon } from './icons.tsx'

interface CopyProps {
  readonly method: string
  /** below the API */
  readonly path: string
  readonly body?: unknown
  /** states that it is copied */
  done(text: string): void
}

export function CopyRequest({ method, path, body, done }: CopyProps) {
  const copy = async (text: string, as: string): Promise<void> => {
    await navigator.clipboard.writeText(text)
    done(`Copied as ${as}`)
  }
  return (
    <>
      <button
        type="button"
        class="quiet wide-only"
        onClick={() => void copy(curlText(`${API}${path}`, method, body), 'curl')}
      >
        <Icon name="copy" /> Copy as curl
      </button>
      <button
        type="button"
        class="quiet wide-only"
        onClick={() => void copy(codeText(`${API}${path}`, method, body), 'code')}
      >
        <Icon name="copy" /> Copy as code
      </button>
    </>
  )
}
