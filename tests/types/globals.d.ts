/** What the host and the modules' files share on a page. */
interface Window {
  piecesModules: Record<string, { needs: string[]; text: string }>;
  piecesRecords?: Record<string, object>;
  pieces: any;
  piecesLinks: any;
}
interface HTMLElement {
  cleanUp?: unknown;
  first?: Record<string, unknown>;
}
