import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** Hex in, a line for each: the event, or what is wrong with it. */
public final class DecodeLines {
    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line; (line = in.readLine()) != null;) {
            byte[] value = new byte[line.length() / 2];
            for (int i = 0; i < value.length; i++)
                value[i] = (byte) Integer.parseInt(line.substring(2 * i, 2 * i + 2), 16);
            try {
                out.println(Status.decode(value));
            } catch (Status.DecodeException e) {
                out.println("wrong: " + e.getMessage());
            }
        }
    }
}
