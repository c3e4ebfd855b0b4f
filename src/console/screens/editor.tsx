/** x */
import { Answer } from '../parts/layout.tsx'
export function Editor() {
  return <Answer title="Editor" />
}
